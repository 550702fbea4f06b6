// Loopscope as the cluster of a test, with client-go: `go mod tidy`, then `go run . [PATH OF loopscope]`.
//
// Debian's packages do as well: `apt-get install golang-go golang-k8s-client-go-dev`, then
// `GO111MODULE=off GOPATH=/usr/share/gocode go run main.go`.
//
// The clock stands (`--speed 0`) until the test moves it: the same test gives the same result each time.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/remotecommand"
	watchtools "k8s.io/client-go/tools/watch"
	utilexec "k8s.io/client-go/util/exec"
)

// Where the command is: `cargo build` leaves it in target/debug, `cargo install --path .` puts it on the PATH.
func command() string {
	if len(os.Args) > 1 {
		return os.Args[1]
	}
	return "loopscope"
}

// must ends the example with a panic, so that what it has deferred (the end of the server) still happens.
func must[T any](value T, err error) T {
	check(err == nil, "%v", err)
	return value
}

func check(holds bool, format string, values ...any) {
	if !holds {
		panic(fmt.Sprintf(format, values...))
	}
}

// A served cluster, and its clock.
type cluster struct {
	*kubernetes.Clientset
	config  *rest.Config
	address string
	process *exec.Cmd
	folder  string
}

func start(flags ...string) *cluster {
	folder := must(os.MkdirTemp("", "loopscope"))
	kubeconfig := filepath.Join(folder, "config")
	process := exec.Command(command(), append([]string{"serve", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig}, flags...)...)
	output := must(process.StdoutPipe())
	check(process.Start() == nil, "%s does not start", command())
	// The first line ends with the address; by the second the kubeconfig is written.
	lines := bufio.NewReader(output)
	words := strings.Fields(must(lines.ReadString('\n')))
	must(lines.ReadString('\n'))
	config := must(clientcmd.BuildConfigFromFlags("", kubeconfig))
	return &cluster{must(kubernetes.NewForConfig(config)), config, words[len(words)-1], process, folder}
}

func (c *cluster) stop() {
	_ = c.process.Process.Kill()
	_ = c.process.Wait()
	_ = os.RemoveAll(c.folder)
}

func (c *cluster) post(path, body string) {
	reply := must(http.Post(c.address+path, "application/json", strings.NewReader(body)))
	defer reply.Body.Close()
	text := must(io.ReadAll(reply.Body))
	check(reply.StatusCode == http.StatusOK, "%s: %s", path, text)
}

// Moves the clock; everything that is due by then has happened when it returns.
func (c *cluster) advance(seconds int) {
	c.post("/loopscope/time", string(must(json.Marshal(map[string]int{"seconds": seconds}))))
}

func (c *cluster) fault(line string) {
	c.post("/loopscope/fault", line)
}

// What a server applies of a Deployment whose containers write a line and sleep.
func deployment(name string, replicas int32) *applyapps.DeploymentApplyConfiguration {
	own := map[string]string{"app": name}
	container := applycore.Container().WithName("c").WithImage("busybox").WithCommand("sh", "-c", "echo hello; sleep 3600")
	template := applycore.PodTemplateSpec().WithLabels(own).WithSpec(applycore.PodSpec().WithContainers(container))
	selector := applymeta.LabelSelector().WithMatchLabels(own)
	spec := applyapps.DeploymentSpec().WithReplicas(replicas).WithSelector(selector).WithTemplate(template)
	return applyapps.Deployment(name, "default").WithSpec(spec)
}

var applied = metav1.ApplyOptions{FieldManager: "example"}

// Waits for a cache to hear of what the server has already done.
func eventually(what string, holds func() bool) {
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		check(time.Now().Before(end), "not within 20 s: %s", what)
	}
}

// A node goes down: after five minutes its Pods run elsewhere. Ten virtual minutes, some real milliseconds.
func rolloutSurvivesANode(ctx context.Context) {
	c := start("--speed", "0")
	defer c.stop()
	factory := informers.NewSharedInformerFactory(c, 0)
	deployments, pods := factory.Apps().V1().Deployments().Lister(), factory.Core().V1().Pods().Lister()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		check(synced, "%v is not synced", kind)
	}
	must(c.AppsV1().Deployments("default").Apply(ctx, deployment("web", 3), applied))
	ready := func() bool {
		web, err := deployments.Deployments("default").Get("web")
		return err == nil && web.Status.ReadyReplicas == 3
	}
	c.advance(10)
	eventually("three Pods are ready", ready)
	c.fault("node-down node-1")
	c.advance(600)
	eventually("three Pods are ready on the other nodes", func() bool {
		nodes := map[string]int{}
		for _, pod := range must(pods.List(labels.Everything())) {
			if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
				nodes[pod.Spec.NodeName]++
			}
		}
		return ready() && nodes["node-1"] == 0 && nodes["node-2"]+nodes["node-3"] == 3
	})
}

// An informer hears of each change once, in order.
func informerSeesEachChange(ctx context.Context) {
	c := start("--speed", "0")
	defer c.stop()
	var lock sync.Mutex
	var seen []string
	note := func(what string, object any) {
		lock.Lock()
		defer lock.Unlock()
		if config, ok := object.(*corev1.ConfigMap); ok && config.Labels["own"] == "yes" {
			seen = append(seen, what+" "+config.Name)
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	must(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { note("added", object) },
		DeleteFunc: func(object any) { note("deleted", object) },
	}))
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	maps := c.CoreV1().ConfigMaps("default")
	var expected []string
	for index := range 20 {
		name := fmt.Sprintf("m%d", index)
		meta := metav1.ObjectMeta{Name: name, Labels: map[string]string{"own": "yes"}}
		must(maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{}))
		expected = append(expected, "added "+name)
	}
	check(maps.Delete(ctx, "m3", metav1.DeleteOptions{}) == nil, "m3 is not deleted")
	expected = append(expected, "deleted m3")
	count := func() int {
		lock.Lock()
		defer lock.Unlock()
		return len(seen)
	}
	eventually("all changes are seen", func() bool { return count() >= len(expected) })
	check(slices.Equal(seen, expected), "%v", seen)
}

func execAndLogs(ctx context.Context) {
	c := start("--jump")
	defer c.stop()
	must(c.AppsV1().Deployments("default").Apply(ctx, deployment("web", 1), applied))
	pods := c.CoreV1().Pods("default")
	list := &cache.ListWatch{
		ListFunc:  func(options metav1.ListOptions) (runtime.Object, error) { return pods.List(ctx, options) },
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) { return pods.Watch(ctx, options) },
	}
	running := func(event watch.Event) (bool, error) {
		pod, ok := event.Object.(*corev1.Pod)
		return ok && pod.Status.Phase == corev1.PodRunning, nil
	}
	name := must(watchtools.UntilWithSync(ctx, list, &corev1.Pod{}, nil, running)).Object.(*corev1.Pod).Name
	log := must(pods.GetLogs(name, &corev1.PodLogOptions{}).DoRaw(ctx))
	check(string(log) == "hello\n", "%q", log)
	options := &corev1.PodExecOptions{Command: []string{"sh", "-c", "echo $HOSTNAME; exit 3"}, Stdout: true, Stderr: true}
	request := c.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(name).SubResource("exec")
	url := request.VersionedParams(options, scheme.ParameterCodec).URL().String()
	var out, problems bytes.Buffer
	err := must(remotecommand.NewWebSocketExecutor(c.config, "GET", url)).
		StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &problems})
	var ended utilexec.CodeExitError
	check(errors.As(err, &ended) && ended.Code == 3, "%v", err)
	check(strings.TrimSpace(out.String()) == name && problems.Len() == 0, "%q %q", &out, &problems)
}

func serverSideApply(ctx context.Context) {
	c := start("--speed", "0")
	defer c.stop()
	maps := c.CoreV1().ConfigMaps("default")
	apply := func(manager, value string, force bool) (*corev1.ConfigMap, error) {
		options := metav1.ApplyOptions{FieldManager: manager, Force: force}
		return maps.Apply(ctx, applycore.ConfigMap("conf", "default").WithData(map[string]string{"a": value}), options)
	}
	must(apply("one", "1", false))
	_, err := apply("two", "2", false)
	check(apierrors.IsConflict(err), "the field belongs to another manager: %v", err)
	check(must(apply("two", "2", true)).Data["a"] == "2", "it is not forced")
}

// Who holds the Lease leads; the other one leads once it is released.
func oneLeaderAtATime(ctx context.Context) {
	c := start("--speed", "1")
	defer c.stop()
	var leaders sync.WaitGroup
	led := make(chan string, 2)
	stand := func(name string) context.CancelFunc {
		own, resign := context.WithCancel(ctx)
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: "default"},
			Client:     c.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}
		elector := must(leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 500 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { led <- name },
				OnStoppedLeading: func() {},
			},
		}))
		leaders.Add(1)
		go func() {
			defer leaders.Done()
			elector.Run(own)
		}()
		return resign
	}
	next := func() string {
		select {
		case name := <-led:
			return name
		case <-time.After(20 * time.Second):
			return "nobody"
		}
	}
	defer leaders.Wait()
	resign := stand("one")
	defer resign()
	leads := next()
	check(leads == "one", "%s leads", leads)
	defer stand("two")()
	time.Sleep(time.Second)
	check(len(led) == 0, "two lead")
	resign()
	leads = next()
	check(leads == "two", "%s leads", leads)
	lease := must(c.CoordinationV1().Leases("default").Get(ctx, "leader", metav1.GetOptions{}))
	check(*lease.Spec.HolderIdentity == "two", "%v", lease.Spec)
}

func main() {
	examples := []struct {
		name string
		run  func(context.Context)
	}{
		{"rolloutSurvivesANode", rolloutSurvivesANode},
		{"informerSeesEachChange", informerSeesEachChange},
		{"execAndLogs", execAndLogs},
		{"serverSideApply", serverSideApply},
		{"oneLeaderAtATime", oneLeaderAtATime},
	}
	for _, example := range examples {
		// Informers end with it.
		ctx, done := context.WithTimeout(context.Background(), time.Minute)
		example.run(ctx)
		done()
		fmt.Printf("%s: ok\n", example.name)
	}
}

// Many Pods to measure with: Deployments, and nodes enough for all of them and for those that an update adds.

/** A Deployment of so many Pods; of very many, Deployments of a thousand. */
export const manifest = (pods, image = 'nginx:1.25') => names(pods).map((name) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${pods / names(pods).length}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: web, image: "${image}"}]}
`).join('---\n');

/** Their names. */
export const names = (pods) => (pods <= 20_000 ? ['many'] : Array.from({ length: pods / 1000 }, (_, at) => `many-${at}`));

export const addNodes = (page, pods) =>
  page.evaluate((nodes) => {
    for (let n = 4; n <= nodes; n++) window.loopscope.fault(`add-node node-${n}`);
  }, Math.ceil((pods * 1.3) / 110));

/** Waits until all are Ready, at a fast clock. */
export async function ready(page, pods) {
  await page.evaluate(() => { loopscope.speed(20); loopscope.play(); });
  for (const name of names(pods)) {
    await page.waitForFunction(
      ([name, replicas]) => loopscope.get('Deployment', 'default', name)?.status?.readyReplicas === replicas,
      [name, pods / names(pods).length],
      { timeout: 1_200_000, polling: 1000 },
    );
  }
  await page.evaluate(() => loopscope.speed(1));
}

// Many Pods to measure with: a Deployment, and nodes enough for all of them and for those that an update adds.

export const manifest = (pods) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: many}
spec:
  replicas: ${pods}
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: web, image: "nginx:1.25"}]}
`;

export const addNodes = (page, pods) =>
  page.evaluate((nodes) => {
    for (let n = 4; n <= nodes; n++) window.loopscope.fault(`add-node node-${n}`);
  }, Math.ceil((pods * 1.3) / 110));

import { arrange, type Plan } from "./arrange";

// The layout runs in a worker, so that large graphs do not block the page.
self.onmessage = (event: MessageEvent<Plan>) => {
  self.postMessage(arrange(event.data));
};

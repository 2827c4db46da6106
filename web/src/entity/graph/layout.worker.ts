import { arrange, type Plan } from "./arrange";

// Large graphs are arranged beside the page, which stays alive meanwhile.
self.onmessage = (event: MessageEvent<Plan>) => {
  self.postMessage(arrange(event.data));
};

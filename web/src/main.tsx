import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { setNonce } from "get-nonce";
import "@mantine/core/styles.css";
import "./app/app.css";
import { App } from "./app/App";
import { nonce } from "./app/theme";

// What Mantine's dialogs bring along makes style elements of its own, and asks here.
setNonce(nonce);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

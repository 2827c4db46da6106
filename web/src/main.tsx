import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { setNonce } from "get-nonce";
import "@mantine/core/styles.css";
import "./design/fonts.css";
import "./app/app.css";
import { App } from "./app/App";
import { nonce } from "./design/theme";

// A dependency of Mantine's dialogs creates style elements and takes the nonce from here.
setNonce(nonce);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

import { useState } from "react";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { BrowserRouter } from "react-router";
import { Boundary } from "./Boundary";
import { Frame } from "./Frame";
import { createQueryClient } from "./queries";
import { Pages } from "./routes";
import { SessionProvider } from "./session";
import { colors, nonce, theme, variables } from "../design/theme";

export function App() {
  const [queries] = useState(createQueryClient);
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} colorSchemeManager={colors} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Boundary>
        <QueryClientProvider client={queries}>
          <SessionProvider>
            {/* The filters are in the URL: without transitions, a checkbox changes at once and not when the page has rendered. */}
            <BrowserRouter useTransitions={false}>
              <Frame>
                <Pages />
              </Frame>
            </BrowserRouter>
          </SessionProvider>
        </QueryClientProvider>
      </Boundary>
    </MantineProvider>
  );
}

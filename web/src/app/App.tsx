import { useState } from "react";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { BrowserRouter } from "react-router";
import { Boundary } from "./Boundary";
import { Frame } from "./Frame";
import { makeQueries } from "./queries";
import { Pages } from "./routes";
import { SessionProvider } from "./session";
import { colors, nonce, theme, variables } from "./theme";

export function App() {
  const [queries] = useState(makeQueries);
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} colorSchemeManager={colors} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Boundary>
        <QueryClientProvider client={queries}>
          <SessionProvider>
            {/* What is chosen stands in the address: a box that is ticked must be ticked at once, not when the page is ready. */}
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

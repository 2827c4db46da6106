import { useState, type ReactNode } from "react";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { MemoryRouter, Route, Routes } from "react-router";
import { SessionProvider } from "./session";
import { theme, variables } from "../design/theme";

// Testbed provides theme, query client without retries, session and router for component tests.
export function Testbed({ path = "/", route = "*", children }: { path?: string; route?: string; children: ReactNode }) {
  const [queries] = useState(() => new QueryClient({ defaultOptions: { queries: { retry: false } } }));
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} env="test">
      <QueryClientProvider client={queries}>
        <SessionProvider>
          <MemoryRouter initialEntries={[path]}>
            <Routes>
              <Route path={route} element={children} />
            </Routes>
          </MemoryRouter>
        </SessionProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}

import { Alert, Code, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Entity } from "../api/types";
import type { May } from "../app/may";
import { Icon } from "../parts/Icon";
import { isObject } from "./form/types";
import { writable } from "./queries";
import styles from "./Steps.module.css";

// writes are the actions that need a cluster.
const writes = ["cluster:apply", "kubernetes:apply", "cluster:delete", "kubernetes:delete"];

function needsCluster(template: Entity | undefined): boolean {
  const steps = (template?.spec as Record<string, unknown> | undefined)?.["steps"];
  return Array.isArray(steps) && steps.some((s) => isObject(s) && writes.includes(String(s["action"])));
}

// NoCluster says, before somebody fills in a form, that what it makes has nowhere to go.
export function NoCluster({ template, may }: { template: Entity | undefined; may: May }) {
  const clusters = useQuery({
    queryKey: ["writable"],
    queryFn: ({ signal }) => writable(signal),
    enabled: may.allowed && needsCluster(template),
    staleTime: 60_000,
  });
  if (clusters.data?.length !== 0) {
    return null;
  }
  return (
    <Alert color="blue" variant="outline" icon={<Icon name="info" />} title="This portal has no cluster" role="note" className={styles.form}>
      <Text size="sm">
        You can fill in the form and look at its manifest; there is nothing to apply it to. Start the portal with <Code>make run-cluster</Code> to try that too, or add a cluster to its configuration.
      </Text>
    </Alert>
  );
}

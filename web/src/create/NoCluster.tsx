import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Entity } from "../api/types";
import type { Access } from "../app/permission";
import { isObject } from "./form/types";
import { writable } from "./queries";
import { Notice } from "../components/Notice";
import { texts } from "../text";
import styles from "./Steps.module.css";

// writes are the actions that need a cluster.
const writes = ["cluster:apply", "kubernetes:apply", "cluster:delete", "kubernetes:delete"];

function needsCluster(template: Entity | undefined): boolean {
  const steps = (template?.spec as Record<string, unknown> | undefined)?.["steps"];
  return Array.isArray(steps) && steps.some((s) => isObject(s) && writes.includes(String(s["action"])));
}

// NoCluster warns before a form is filled in that there is no cluster to apply the result to.
export function NoCluster({ template, access }: { template: Entity | undefined; access: Access }) {
  const clusters = useQuery({
    queryKey: ["writable"],
    queryFn: ({ signal }) => writable(signal),
    enabled: access.allowed && needsCluster(template),
    staleTime: 60_000,
  });
  if (clusters.data?.length !== 0) {
    return null;
  }
  return (
    <Notice tone="progress" title={texts.create.template.noCluster} role="note" className={styles.form}>
      <Text size="sm">
        {texts.create.template.noClusterHint}
      </Text>
    </Notice>
  );
}

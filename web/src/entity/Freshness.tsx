import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import { usePermission } from "../app/permission";
import { annotation, annotations } from "../api/entity";
import type { Entity } from "../api/types";
import { Notice } from "../components/Notice";
import { messageOf } from "../components/State";
import { Time } from "../components/Time";
import { texts } from "../text";
import { isMissing, useResourceStatus } from "./queries";

const words = texts.entity.freshness;

// Outdated says why the data of a page may be out of date, and when it was last read. Operators see which lists cannot be read.
export type Outdated = { why: string; lastRead?: string | number; lists?: string };

// useOutdated returns why the data of an entity may be out of date: its cluster does not answer now, or the catalog could not
// read it lately. It is undefined if the data is up to date.
export function useOutdated(entity: Entity): Outdated | undefined {
  const { error, problem, dataUpdatedAt } = useResourceStatus(entity);
  const lists = annotation(entity, annotations.stale);
  const since = annotation(entity, annotations.staleSince) || undefined;
  if (problem || (error && !isMissing(error))) {
    // A page that has not read anything itself knows from the catalog when the cluster was last read.
    return { why: problem?.message ?? messageOf(error), lastRead: problem?.lastRead ?? (dataUpdatedAt > 0 ? dataUpdatedAt : since), lists: lists || undefined };
  }
  if (lists === "") {
    return undefined;
  }
  const cluster = annotation(entity, annotations.discoveredFrom);
  return { why: cluster === "" ? words.sourceAway : words.clusterAway(cluster), lastRead: since, lists };
}

// Freshness says since when the data of a page may be out of date, and why.
export function Freshness({ entity }: { entity: Entity }) {
  const outdated = useOutdated(entity);
  const operator = usePermission("catalog.ingestion.read").allowed;
  if (!outdated) {
    return null;
  }
  const { why, lastRead, lists } = outdated;
  return (
    <Notice tone="warning" title={words.title}>
      <Text size="sm" role="status" style={{ overflowWrap: "anywhere" }}>
        {lastRead !== undefined && (
          <>
            {words.lastRead} <Time at={lastRead} />
            {": "}
          </>
        )}
        {words.sentence(why, lastRead === undefined)}
      </Text>
      {operator && (
        <Text size="sm" c="dimmed" mt={4} style={{ overflowWrap: "anywhere" }}>
          {lists !== undefined && `${words.lists(lists)} `}
          <Anchor component={Link} to="/ingestion" inherit underline="always">
            {words.ingestion}
          </Anchor>
        </Text>
      )}
    </Notice>
  );
}

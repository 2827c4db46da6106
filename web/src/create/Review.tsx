import type { Ref } from "react";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { Unserved } from "../api/unserved";
import type { Entity } from "../api/types";
import type { Access } from "../app/permission";
import { Icon } from "../components/Icon";
import { lookup } from "../components/lookup";
import { PermissionTooltip } from "../components/PermissionTooltip";
import { ErrorAlert, Loading } from "../components/State";
import { texts } from "../text";
import { DryRun } from "./DryRun";
import type { Page } from "./form/pages";
import type { Problem, Values } from "./form/types";
import { InputSummary } from "./InputSummary";
import { Refusals } from "./Refusals";
import styles from "./Steps.module.css";

const words = texts.create.review;

// labels are the button labels by template purpose.
const labels: Record<string, string> = { update: words.update, delete: words.delete };

type Props = {
  pages: Page[];
  // sent are the values as they are sent; before those of the resource that is updated.
  sent: Values;
  before?: Values;
  // open are the problems that must be solved first.
  open: Problem[];
  // refusals are why a cluster would refuse the resource.
  refusals: Problem[];
  template: UseQueryResult<Entity>;
  lock: Unserved[];
  purpose: string;
  // plans tells that the form was generated from a definition, so that Crossplane makes something of its resource.
  plans: boolean;
  access: Access;
  canDryRun: Access;
  sending: boolean;
  error: unknown;
  heading: Ref<HTMLHeadingElement>;
  onShow: (problems: Problem[]) => void;
  onBack: () => void;
  onCreate: () => void;
};

// Review is the last step of a form: the input, what it changes, and the button that starts the task.
export function Review({ pages, sent, before, open, refusals, template, lock, purpose, plans, access, canDryRun, sending, error, heading, onShow, onBack, onCreate }: Props) {
  const deletes = purpose === "delete";
  return (
    <>
      <div className={styles.review}>
        <Stack gap="md">
          <Title order={2} size="h3" ref={heading} tabIndex={-1}>
            {words.input}
          </Title>
          <InputSummary pages={pages} values={sent} before={before} />
        </Stack>
        <Stack gap="md">
          <Title order={2} size="h3">
            {words.changes}
          </Title>
          {open.length > 0 ? (
            <Stack gap="xs" align="flex-start">
              <Text>{words.invalid}</Text>
              <Button variant="default" onClick={() => onShow(open)}>
                {words.showErrors}
              </Button>
            </Stack>
          ) : lock.length > 0 ? (
            <Text>{words.lockedCluster}</Text>
          ) : refusals.length > 0 ? (
            <Stack gap="xs" align="flex-start">
              <Refusals of={refusals} />
              <Button variant="default" onClick={() => onShow(refusals)}>
                {words.showErrors}
              </Button>
            </Stack>
          ) : template.data ? (
            <DryRun template={template.data} values={sent} access={canDryRun} plans={plans && !deletes} />
          ) : template.isError ? (
            <ErrorAlert error={template.error} title={words.noTemplate} retry={() => void template.refetch()} />
          ) : (
            <Loading lines={6} />
          )}
        </Stack>
      </div>
      {error !== undefined && (
        <Stack gap="xs">
          <ErrorAlert error={error} title={words.notStarted} />
          <Text size="sm">{words.kept}</Text>
        </Stack>
      )}
      <Group className={styles.bar}>
        <Button variant="default" onClick={onBack} disabled={pages.length === 0}>
          {texts.create.template.back}
        </Button>
        <PermissionTooltip access={access}>
          <Button onClick={onCreate} loading={sending} disabled={!access.allowed || lock.length > 0} color={deletes ? "danger" : undefined} leftSection={<Icon name={deletes ? "trash" : "play"} size={16} />}>
            {lookup(labels, purpose) ?? words.create}
          </Button>
        </PermissionTooltip>
        {!access.allowed && access.reason && (
          <Text size="sm" c="dimmed">
            {access.reason}
          </Text>
        )}
      </Group>
    </>
  );
}

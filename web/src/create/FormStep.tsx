import { useCallback, useMemo, useRef, useState, type Ref } from "react";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue, useMediaQuery } from "@mantine/hooks";
import type { Entity } from "../api/types";
import { Icon } from "../components/Icon";
import { texts } from "../text";
import { contentsOf } from "./form/sections";
import { Contents } from "./form/Contents";
import { ChoiceSource, sourceOf } from "./form/LiveChoices";
import { PageForm } from "./form/PageForm";
import { allProperties, outgoing, pageOf, problemsIn, type Page } from "./form/pages";
import { Rules } from "./form/templates";
import type { Path, Problem, Values } from "./form/types";
import { FoldedManifest, LiveManifest } from "./manifest/LiveManifest";
import { Refusals } from "./Refusals";
import styles from "./Steps.module.css";

const words = texts.create.template;
const formId = "template-form";
const none: Problem[] = [];

type Props = {
  // template is the reference of the Template.
  template: string;
  // clusterField is the field that asks for the cluster; undefined if there is none.
  clusterField: string | undefined;
  pages: Page[];
  // at is the index of the page that is shown.
  at: number;
  values: Values;
  secrets: Record<string, string>;
  problems: Problem[];
  // refusals are what a cluster would refuse; those without a path concern the whole resource.
  refusals: Problem[];
  focus?: string[];
  // rules tells that the form was generated from a definition.
  rules: boolean;
  // manifest is the Template whose manifest is shown; undefined if there is none to show.
  manifest?: Entity;
  heading: Ref<HTMLHeadingElement>;
  onChange: (values: Values) => void;
  onSecret: (name: string, value: string) => void;
  onGo: (step: number) => void;
};

// FormStep is one page of a form with its buttons, its table of contents and the manifest.
export function FormStep({ template, clusterField, pages, at, values, secrets, problems, refusals, focus, rules, manifest, heading, onChange, onSecret, onGo }: Props) {
  const page = pages[at]!;
  const wide = useMediaQuery("(min-width: 62em)", false, { getInitialValueInEffect: false });
  const [found, setFound] = useState<Problem[]>(none);
  const [reveal, setReveal] = useState<{ path: Path }>();
  const entries = useMemo(() => contentsOf(page.schema), [page]);
  const here = useMemo(() => refusals.filter((p) => p.path.length > 0 && pageOf(pages, p) === at), [refusals, pages, at]);
  const whole = useMemo(() => refusals.filter((p) => p.path.length === 0), [refusals]);
  const properties = useMemo(() => allProperties(pages), [pages]);
  const source = sourceOf(template, clusterField, properties, values);
  const canSkip = useOptionalRest(pages, at, values);
  // next is where the form goes when this page is valid.
  const next = useRef(at + 1);
  const done = useCallback(() => onGo(next.current), [onGo]);
  const contents = entries.length > 0 && <Contents entries={entries} problems={found} onGo={(name) => setReveal({ path: [name] })} />;
  return (
    <div className={styles.columns}>
      <Stack gap="md" className={styles.form}>
        <div>
          <Title order={2} size="h3" ref={heading} tabIndex={-1}>
            {page.title}
          </Title>
          {page.description && <About text={page.description} rules={rules} />}
        </div>
        {!wide && contents}
        <Refusals of={whole} />
        <ChoiceSource value={source}>
          <PageForm
            id={formId}
            page={page.schema}
            values={values}
            secrets={secrets}
            problems={problems}
            refusals={here}
            focus={focus}
            reveal={reveal}
            rules={rules}
            onProblems={setFound}
            onChange={onChange}
            onSecret={onSecret}
            onDone={done}
          />
        </ChoiceSource>
        <Group>
          {at > 0 && (
            <Button variant="default" onClick={() => onGo(at - 1)}>
              {words.back}
            </Button>
          )}
          <Button type="submit" form={formId} rightSection={<Icon name="right" size={16} />} onClick={() => (next.current = at + 1)}>
            {at === pages.length - 1 ? words.review : words.next}
          </Button>
          {canSkip && (
            <Button type="submit" form={formId} variant="default" title={words.skipHint} onClick={() => (next.current = pages.length)}>
              {words.skip}
            </Button>
          )}
        </Group>
        {!wide && manifest && <FoldedManifest template={manifest} pages={pages} values={values} />}
      </Stack>
      {wide && (contents || manifest) && (
        <div className={styles.aside}>
          {contents}
          {manifest && <LiveManifest template={manifest} pages={pages} values={values} height={contents ? "calc(60vh - 150px)" : "calc(100vh - 210px)"} />}
        </div>
      )}
    </div>
  );
}

// useOptionalRest reports whether the remaining pages of a form are valid as they are, so that they can be skipped. It
// follows the input with a delay.
function useOptionalRest(pages: Page[], at: number, values: Values): boolean {
  const [settled] = useDebouncedValue(values, 250);
  return useMemo(() => {
    const rest = pages.slice(at + 1);
    return rest.length > 0 && problemsIn(rest, outgoing(pages, settled)).every((p) => p.length === 0);
  }, [pages, at, settled]);
}

// About is the description of a page. In a generated form, the lines after the first are rules.
function About({ text, rules }: { text: string; rules: boolean }) {
  const [first, ...rest] = text.split("\n").filter((line) => line.trim() !== "");
  return (
    <Text c="dimmed" component="div" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
      {rules && rest.length > 0 ? (
        <>
          {first}
          <div>
            <Rules lines={rest} />
          </div>
        </>
      ) : (
        text
      )}
    </Text>
  );
}

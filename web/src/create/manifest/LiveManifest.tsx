import { useId, useMemo, useState } from "react";
import { Button, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import type { Entity } from "../../api/types";
import { Icon } from "../../components/Icon";
import { Yaml } from "../../components/Yaml";
import { texts } from "../../text";
import { outgoing, type Page } from "../form/pages";
import type { Values } from "../form/types";
import { maskedValues } from "../InputSummary";
import { render } from "./render";
import styles from "../Steps.module.css";

const words = texts.create.manifest;

type Props = { template: Entity; pages: Page[]; values: Values };

// LiveManifest shows the manifest while a form is filled in. It follows the input with a delay, so that typing stays fast.
export function LiveManifest({ template, pages, values, height }: Props & { height: string }) {
  const [settled] = useDebouncedValue(values, 250);
  return useMemo(() => {
    const text = render(template, maskedValues(pages, outgoing(pages, settled)));
    return (
      <section aria-label={words.title} className={styles.manifest}>
        <Yaml
          text={text}
          label={words.preview}
          file="manifest.yaml"
          height={height}
          left={
            <Title order={2} size="h4">
              {words.title}
            </Title>
          }
        />
        <Text size="xs" c="dimmed" mt={8}>
          {words.hint}
        </Text>
      </section>
    );
  }, [template, pages, settled, height]);
}

// FoldedManifest is the manifest on a narrow screen: hidden until it is asked for.
export function FoldedManifest(props: Props) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <Stack gap="sm" mt="md">
      <Button variant="default" w="fit-content" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)} leftSection={<Icon name={open ? "down" : "right"} size={16} />}>
        {open ? words.hide : words.show}
      </Button>
      {open && (
        <div id={id}>
          <LiveManifest {...props} height="60vh" />
        </div>
      )}
    </Stack>
  );
}

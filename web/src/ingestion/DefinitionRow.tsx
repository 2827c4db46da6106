import { Fragment, useId } from "react";
import { Anchor, Text, UnstyledButton } from "@mantine/core";
import { Link } from "react-router";
import { Icon } from "../components/Icon";
import { Tag } from "../components/Tag";
import { texts } from "../text";
import { DefinitionDetails } from "./DefinitionDetails";
import { placesOf, reasonsOf, toneOf, type Place } from "./definition";
import { tones } from "./Explain";
import { sentence } from "./labels";
import type { Named } from "./queries";
import styles from "./Definitions.module.css";

const words = texts.ingestion.definitions;

// few is the number of places shown in a row.
const few = 4;

// DefinitionRow is a definition in one line, with its details below when it is open.
export function DefinitionRow({ definition: d, open, onToggle }: { definition: Named; open: boolean; onToggle: () => void }) {
  const id = useId();
  const places = placesOf(d);
  const reasons = d.selected ? [] : reasonsOf(d);
  return (
    <li className={styles.row} aria-label={d.name} data-open={open || undefined}>
      <div className={styles.line}>
        <UnstyledButton className={styles.name} aria-expanded={open} aria-controls={id} onClick={onToggle}>
          <Icon name={open ? "down" : "right"} size={14} />
          <span>
            {d.name.split(/(?<=\.)/).map((part, i) => (
              // Long names break after a dot.
              <Fragment key={i}>
                {part}
                <wbr />
              </Fragment>
            ))}
          </span>
        </UnstyledButton>
        <div className={styles.cell}>
          {d.selected ? <Tag tone="success">{words.selected}</Tag> : <Tag>{words.unselected}</Tag>}
          {!open && reasons[0] && (
            <Text size="xs" c="dimmed" mt={4}>
              {sentence(reasons[0])}
            </Text>
          )}
        </div>
        <div className={`${styles.cell} ${styles.places}`}>
          {places.slice(0, few).map((p) => (
            <PlaceTag key={`${p.cluster} ${p.name}`} place={p} selected={d.selected} />
          ))}
          {places.length > few && <Tag>{words.more(places.length - few)}</Tag>}
        </div>
        <div className={styles.cell}>
          <FindingCounts definition={d} />
        </div>
      </div>
      <div id={id}>{open && <DefinitionDetails definition={d} places={places} />}</div>
    </li>
  );
}

// stateOf returns the words for the state of a place. Where only others select the definition, that is its state. It is empty
// if all that is known is that the definition was found there.
export function stateOf(place: Place, selected: boolean): string {
  if (place.state === "found") {
    return selected && !place.selected ? words.unselected.toLowerCase() : "";
  }
  return words.state[place.state];
}

function PlaceTag({ place, selected }: { place: Place; selected: boolean }) {
  const state = stateOf(place, selected);
  return <Tag tone={toneOf(place)}>{state === "" ? place.name : words.place(place.name, state)}</Tag>;
}

const severities = ["error", "warning", "info"] as const;

function FindingCounts({ definition: d }: { definition: Named }) {
  const found = severities.flatMap((severity) => (d.findings?.[severity] ? [{ severity, text: words.severity[severity](d.findings[severity]) }] : []));
  if (found.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {words.noFindings}
      </Text>
    );
  }
  return (
    <Anchor
      component={Link}
      className={styles.findings}
      to={{ search: new URLSearchParams({ tab: "findings", definition: d.name }).toString() }}
      aria-label={words.findingsOf(d.name, found.map((f) => f.text).join(", "))}
    >
      {found.map((f) => (
        <Tag key={f.severity} tone={tones[f.severity]}>
          {f.text}
        </Tag>
      ))}
    </Anchor>
  );
}

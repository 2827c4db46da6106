import { Component, type ReactNode } from "react";
import { Text } from "@mantine/core";
import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps } from "@rjsf/utils";
import { Notice } from "../../components/Notice";
import { texts } from "../../text";

const words = texts.create.form;

type BoundaryProps = {
  // subject names what cannot be shown, such as "field spec.size".
  subject: string;
  // of is the schema of the field: when it changes, rendering is tried again.
  of: unknown;
  children: ReactNode;
};

// FieldBoundary shows an error in place of a part of the form that cannot be rendered.
export class FieldBoundary extends Component<BoundaryProps, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidUpdate(before: BoundaryProps) {
    if (this.state.error && before.of !== this.props.of) {
      this.setState({ error: undefined });
    }
  }

  override render() {
    const { error } = this.state;
    if (!error) {
      return this.props.children;
    }
    return (
      <Notice tone="error" title={words.cannotShow(this.props.subject)} role="alert">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {shortened(error.message)}
        </Text>
        <Text size="sm">{words.cannotShowHint}</Text>
      </Notice>
    );
  }
}

// shortened cuts an error message: the library appends the whole schema.
function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

const Inner = getDefaultRegistry().fields["SchemaField"]!;

// SchemaField wraps the library's SchemaField in a boundary, so that one broken field does not affect the others.
export function SchemaField(props: FieldProps) {
  const path = props.fieldPathId.path;
  return (
    <FieldBoundary subject={path.length === 0 ? words.thisPage : words.field(path.join("."))} of={props.schema}>
      <Inner {...props} />
    </FieldBoundary>
  );
}

// Broken is the field for an unusable schema. The boundary around it shows the reason.
export function Broken({ uiSchema }: FieldProps): ReactNode {
  throw new Error(String(uiSchema?.["ui:reason"]));
}

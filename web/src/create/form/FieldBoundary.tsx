import { Component, type ReactNode } from "react";
import { Alert, Text } from "@mantine/core";
import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps } from "@rjsf/utils";
import { Icon } from "../../parts/Icon";

type BoundaryProps = {
  // subject is what cannot be shown, such as "field spec.size".
  subject: string;
  // of is what the field is made from: a change of it is another try.
  of: unknown;
  children: ReactNode;
};

// FieldBoundary shows which part of a form cannot be shown, and why, in place of that part.
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
      <Alert color="red" variant="outline" icon={<Icon name="warning" />} title={`Cannot show ${this.props.subject}`} role="alert">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {shortened(error.message)}
        </Text>
        <Text size="sm">Its value stays as it is. Ask the owner of the template to correct its schema.</Text>
      </Alert>
    );
  }
}

// shortened keeps what an error says at first: the library appends the whole schema.
function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

const Inner = getDefaultRegistry().fields["SchemaField"]!;

// SchemaField is the library's, with a boundary around every field, so that one that breaks takes no other with it.
export function SchemaField(props: FieldProps) {
  const path = props.fieldPathId.path;
  return (
    <FieldBoundary subject={path.length === 0 ? "this page of the form" : `field ${path.join(".")}`} of={props.schema}>
      <Inner {...props} />
    </FieldBoundary>
  );
}

// Broken stands for a field whose schema cannot be used. The boundary around it says why.
export function Broken({ uiSchema }: FieldProps): ReactNode {
  throw new Error(String(uiSchema?.["ui:reason"]));
}

import { Fragment } from "react";
import { Group, Kbd, Modal, Table } from "@mantine/core";
import { texts } from "../text";

const words = texts.search.shortcut;
const or = texts.search.or;
const then = texts.search.then;

// shortcuts are the keys, and words between them.
const shortcuts: { keys: string[]; does: string }[] = [
  { keys: ["Ctrl", "K", or, "⌘", "K"], does: words.palette },
  { keys: ["/"], does: words.slash },
  { keys: ["?"], does: words.help },
  { keys: ["G", then, "H", "C", "N", "T"], does: words.go },
  { keys: ["↑", "↓", "Page Up", "Page Down", "Home", "End"], does: words.rows },
  { keys: ["Enter"], does: words.enter },
  { keys: ["Esc"], does: words.escape },
];

// Shortcuts lists the keys of the portal.
export default function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    // A header of a dialog would be a second banner of the page.
    <Modal.Root opened onClose={onClose} size="lg">
      <Modal.Overlay />
      <Modal.Content radius="lg">
        <Group justify="space-between" p="md">
          <Modal.Title fw={600}>{texts.search.shortcuts}</Modal.Title>
          <Modal.CloseButton aria-label={texts.search.keys.close} />
        </Group>
        <Modal.Body>
          <Table>
            <Table.Tbody>
              {shortcuts.map(({ keys, does }) => (
                <Table.Tr key={does}>
                  <Table.Th scope="row" fw={400}>
                    {does}
                  </Table.Th>
                  <Table.Td ta="right">
                    {keys.map((key, i) => (
                      <Fragment key={i}>{key === or || key === then ? ` ${key} ` : <Kbd mx={2}>{key}</Kbd>}</Fragment>
                    ))}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

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
  { keys: ["G", then, "H"], does: words.goTo(texts.app.home) },
  { keys: ["G", then, "C"], does: words.goTo(texts.app.catalog) },
  { keys: ["G", then, "N"], does: words.goTo(texts.app.create) },
  { keys: ["G", then, "T"], does: words.goTo(texts.app.tasks) },
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
                  <Table.Td>
                    <Group gap={4} justify="flex-end">
                      {keys.map((key, i) => (key === or || key === then ? <span key={i}>{key}</span> : <Key key={i} name={key} />))}
                    </Group>
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

// Key is a key, whose name does not break.
function Key({ name }: { name: string }) {
  return <Kbd style={{ whiteSpace: "nowrap" }}>{name}</Kbd>;
}

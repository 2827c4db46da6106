import { Fragment } from "react";
import { Kbd, Modal, Table } from "@mantine/core";
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
    <Modal opened onClose={onClose} title={texts.search.shortcuts} closeButtonProps={{ "aria-label": texts.search.keys.close }} size="lg">
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
    </Modal>
  );
}

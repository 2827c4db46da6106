import { Text } from "@mantine/core";
import { Tag } from "../components/Tag";
import { Time } from "../components/Time";
import { labelOf } from "../create/labels";
import { stateOf } from "../create/status";
import { useRecentTasks } from "../search/queries";
import { texts } from "../text";
import { Item, Items } from "./Items";
import { Panel } from "./Panel";

const words = texts.home.tasks;

// most is the number of tasks that are listed.
const most = 5;

// Tasks lists the newest tasks of the user.
export function Tasks() {
  const tasks = useRecentTasks(most);
  const list = tasks.data?.tasks ?? [];
  return (
    <Panel title={words.title} query={tasks} more={list.length === most ? { label: words.more, to: "/tasks" } : undefined}>
      {list.length === 0 ? (
        <Text c="dimmed" size="sm">
          {words.none}
        </Text>
      ) : (
        <Items label={words.title}>
          {list.map((task) => {
            const state = stateOf(task.status);
            return (
              <Item
                key={task.id}
                to={`/tasks/${encodeURIComponent(task.id)}`}
                title={labelOf(task)}
                side={
                  <>
                    <Tag tone={state.tone}>{state.word}</Tag>
                    <Text size="xs" c="dimmed">
                      <Time at={task.createdAt} />
                    </Text>
                  </>
                }
              />
            );
          })}
        </Items>
      )}
    </Panel>
  );
}

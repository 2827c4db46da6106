import { useParams } from "react-router";
import { TaskView } from "./task/TaskView";

// TaskPage shows one task; the key resets the page for another task.
export default function TaskPage() {
  const { id = "" } = useParams();
  return <TaskView key={id} id={id} />;
}

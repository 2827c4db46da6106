import { useParams } from "react-router";
import { TaskView } from "./task/TaskView";

// TaskPage is one task; another one is another page.
export default function TaskPage() {
  const { id = "" } = useParams();
  return <TaskView key={id} id={id} />;
}

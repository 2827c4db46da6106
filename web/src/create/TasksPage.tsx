import { Page } from "../parts/Page";
import { Loading } from "../parts/State";

export default function TasksPage() {
  return (
    <Page title="Tasks">
      <Loading />
    </Page>
  );
}

import { Page } from "../parts/Page";
import { Loading } from "../parts/State";

export default function TaskPage() {
  return (
    <Page title="Task">
      <Loading />
    </Page>
  );
}

import { Page } from "../parts/Page";
import { Loading } from "../parts/State";

export default function CreatePage() {
  return (
    <Page title="Create">
      <Loading />
    </Page>
  );
}

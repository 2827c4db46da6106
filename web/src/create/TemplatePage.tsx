import { Page } from "../parts/Page";
import { Loading } from "../parts/State";

export default function TemplatePage() {
  return (
    <Page title="Create">
      <Loading />
    </Page>
  );
}

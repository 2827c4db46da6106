import { useParams, useSearchParams } from "react-router";
import { Page } from "../parts/Page";
import { Failed, Loading } from "../parts/State";
import { Filled } from "./Filled";
import { useForm, useTemplate, type Filling } from "./queries";

// TemplatePage is the form of a Template, page by page, and what comes of it.
export default function TemplatePage() {
  const { namespace = "default", name = "" } = useParams();
  const [params] = useSearchParams();
  const filling: Filling = { name: params.get("name") ?? undefined, namespace: params.get("namespace") ?? undefined, cluster: params.get("cluster") ?? undefined };
  const opened = useForm(namespace, name, filling);
  const template = useTemplate(namespace, name);
  if (opened.isPending) {
    return (
      <Page title={name}>
        <Loading label="Loading the form" lines={8} />
      </Page>
    );
  }
  if (opened.isError) {
    return (
      <Page title={name}>
        <Failed error={opened.error} title="The form cannot be shown" retry={() => void opened.refetch()} />
      </Page>
    );
  }
  // Another resource is another form.
  return <Filled key={`${namespace}/${name}?${JSON.stringify(filling)}`} namespace={namespace} name={name} filling={filling} first={opened.data} template={template} />;
}

import { useParams, useSearchParams } from "react-router";
import { Page } from "../components/Page";
import { ErrorAlert, Loading } from "../components/State";
import { TemplateForm } from "./TemplateForm";
import { useForm, useTemplate, type Prefill } from "./queries";

// TemplatePage loads a Template and its form.
export default function TemplatePage() {
  const { namespace = "default", name = "" } = useParams();
  const [params] = useSearchParams();
  const get = (key: string) => params.get(key) ?? undefined;
  const prefill: Prefill = { name: get("name"), namespace: get("namespace"), cluster: get("cluster"), field: get("field") };
  const opened = useForm(namespace, name, prefill);
  const template = useTemplate(namespace, name);
  if (opened.isPending) {
    return (
      <Page title={name}>
        <Loading label="Loading form" lines={8} />
      </Page>
    );
  }
  if (opened.isError) {
    return (
      <Page title={name}>
        <ErrorAlert error={opened.error} title="Cannot show the form" retry={() => void opened.refetch()} />
      </Page>
    );
  }
  // Another resource means another form.
  return <TemplateForm key={`${namespace}/${name}?${JSON.stringify(prefill)}`} namespace={namespace} name={name} prefill={prefill} first={opened.data} template={template} />;
}

import { useParams, useSearchParams } from "react-router";
import { ApiError } from "../api/client";
import { NotFound } from "../components/NotFound";
import { Page } from "../components/Page";
import { ErrorAlert, Loading } from "../components/State";
import { texts } from "../text";
import { TemplateForm } from "./TemplateForm";
import { useForm, useTemplate, type Prefill } from "./queries";

const words = texts.create.template;
const trail = [{ label: texts.app.create, to: "/create" }];

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
      <Page title={name} trail={trail}>
        <Loading label={words.loading} lines={8} />
      </Page>
    );
  }
  if (opened.isError) {
    // The resource that prefills a form may be missing too; then the message says so.
    if (opened.error instanceof ApiError && opened.error.status === 404 && prefill.name === undefined) {
      return <NotFound title={words.notFound} hint={words.notFoundHint} name={name} />;
    }
    return (
      <Page title={name} trail={trail}>
        <ErrorAlert error={opened.error} title={words.failed} retry={() => void opened.refetch()} />
      </Page>
    );
  }
  // Another resource means another form.
  return <TemplateForm key={`${namespace}/${name}?${JSON.stringify(prefill)}`} namespace={namespace} name={name} prefill={prefill} first={opened.data} template={template} />;
}

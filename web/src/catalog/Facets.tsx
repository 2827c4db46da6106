import { Text } from "@mantine/core";
import { shortRef } from "../api/entity";
import { Facet, type FacetValue } from "../components/Facet";
import { fullRef, useTitles } from "../components/useTitles";
import { texts } from "../text";
import { facetNames, facets, type CatalogFilter, type FacetName } from "./filter";
import { useFacets } from "./queries";

// titled are the facets whose values are references, with the kind that a reference may leave out.
const titled: Partial<Record<FacetName, string>> = { owner: "group", system: "system" };

// most is the number of values whose titles are loaded: those with the most entities.
const most = 100;

// Facets are the filters of the catalog, with counts.
export function Facets({ filter, onChange }: { filter: CatalogFilter; onChange: (chosen: CatalogFilter["chosen"]) => void }) {
  const { values, failed } = useFacets(filter);
  if (failed) {
    return (
      <Text size="sm" c="dimmed">
        {texts.catalog.countsFailed}
      </Text>
    );
  }
  const choose = (name: FacetName) => (chosen: string[]) => onChange({ ...filter.chosen, [name]: chosen });
  return facetNames.map((name) => {
    const props = { title: facets[name].title, values: values(name), chosen: filter.chosen[name], onChange: choose(name), hint: texts.catalog.unfolds };
    const kind = titled[name];
    return kind ? <TitledFacet key={name} kind={kind} {...props} /> : <Facet key={name} show={facets[name].show} {...props} />;
  });
}

type Titled = { kind: string; title: string; values: FacetValue[] | undefined; chosen: string[]; onChange: (chosen: string[]) => void; hint: string };

// TitledFacet is a facet whose values are references to entities, shown with their titles.
function TitledFacet({ kind, ...props }: Titled) {
  const first = [...(props.values ?? [])].sort((a, b) => (b.count ?? 0) - (a.count ?? 0)).slice(0, most);
  const full = (value: string) => fullRef(value, { kind });
  const titles = useTitles([...first.map((v) => v.value), ...props.chosen].map(full));
  return <Facet show={(value) => titles.get(full(value))?.title ?? shortRef(value)} {...props} />;
}

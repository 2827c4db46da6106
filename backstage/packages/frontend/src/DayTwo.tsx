import { DEFAULT_NAMESPACE, type Entity } from '@backstage/catalog-model';
import { createExternalRouteRef, useApi, useRouteRef } from '@backstage/frontend-plugin-api';
import { catalogApiRef } from '@backstage/plugin-catalog-react';
import Box from '@material-ui/core/Box';
import Button from '@material-ui/core/Button';
import FormHelperText from '@material-ui/core/FormHelperText';
import { useEffect, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { useRead } from './api';
import { hasField, objectOf, templateFor, templatesFilter } from './entity';
import { valuesForAddress, type Form } from './form';

/** templateRouteRef is the page of the scaffolder with the form of a Template. */
export const templateRouteRef = createExternalRouteRef({ params: ['namespace', 'templateName'], defaultTarget: 'scaffolder.selectedTemplate' });

const fields = ['kind', 'metadata.name', 'metadata.namespace', 'metadata.annotations', 'spec.parameters'];

/** DayTwo are the buttons that update and delete a resource. They open the forms of its Templates, if there are any. */
export function DayTwo({ entity }: { entity: Entity }) {
  const catalog = useApi(catalogApiRef);
  const [templates, setTemplates] = useState<Entity[]>([]);
  const filter = JSON.stringify(templatesFilter(entity));
  const route = useRouteRef(templateRouteRef);
  const navigate = useNavigate();
  const read = useRead();
  const [opening, setOpening] = useState(false);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let current = true;
    catalog.getEntities({ filter: JSON.parse(filter) as Record<string, string>, fields }).then(
      ({ items }) => {
        if (current) {
          setTemplates(items);
        }
      },
      (error: unknown) => {
        if (current) {
          setProblem(`Cannot find the Templates of this resource: ${String(error)}`);
        }
      },
    );
    return () => {
      current = false;
    };
  }, [catalog, filter]);

  const object = objectOf(entity);
  const update = route && templateFor(entity, templates, 'update');
  const remove = route && templateFor(entity, templates, 'delete');
  const open = ({ metadata }: Entity, formData: object) => {
    const to = route!({ namespace: metadata.namespace ?? DEFAULT_NAMESPACE, templateName: metadata.name });
    navigate(`${to}?${new URLSearchParams({ formData: JSON.stringify(formData) })}`);
  };
  const openUpdate = async (template: Entity) => {
    const { name, namespace = DEFAULT_NAMESPACE } = template.metadata;
    setOpening(true);
    setProblem(undefined);
    try {
      const path = `/forms/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}?${new URLSearchParams(object)}`;
      open(template, valuesForAddress(await read<Form>(path)));
    } catch (error) {
      setProblem(`Cannot open the form: ${(error as Error).message}`);
      setOpening(false);
    }
  };
  return (
    <Box display="flex" flexWrap="wrap" alignItems="center" gridGap={8}>
      {update && (
        <Button variant="contained" color="primary" disabled={opening} onClick={() => void openUpdate(update)}>
          Update
        </Button>
      )}
      {remove && (
        <Button
          variant="outlined"
          onClick={() => {
            open(remove, Object.fromEntries(Object.entries(object).filter(([key]) => hasField(remove, key))));
          }}
        >
          Delete
        </Button>
      )}
      {problem !== undefined && (
        <FormHelperText error role="alert">
          {problem}
        </FormHelperText>
      )}
    </Box>
  );
}

// Follows a resource through the pages of Backstage, from the form to its deletion.
// Usage: node journey.mjs URL CHROMIUM
import { chromium } from 'playwright-core';
import { strict as assert } from 'node:assert';
import { join } from 'node:path';

const [url, executablePath] = process.argv.slice(2);
const screenshots = process.env.INGESTOR_SCREENSHOTS;

// Messages of Backstage itself, which has them without the plugin too.
const known = ['Form validation failed'];

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
page.setDefaultTimeout(30_000);
const problems = [];
// expected are messages about requests that the journey lets fail.
let expected;
page.on('console', (m) => {
  if (m.type() === 'error' && !known.some((k) => m.text().includes(k)) && !expected?.test(m.text())) {
    problems.push(`${m.text()} (${m.location().url})`);
  }
});
page.on('pageerror', (e) => problems.push(e.stack ?? e.message));

// show takes screenshots of the page, if they are asked for.
async function show(of, name) {
  for (const width of screenshots ? [1440, 900, 400] : []) {
    await of.setViewportSize({ width, height: 900 });
    await of.waitForTimeout(500);
    await of.screenshot({ path: join(screenshots, `${name}-${width}-light.png`) });
  }
  await of.setViewportSize({ width: 1440, height: 900 });
}

async function change(world) {
  const response = await fetch(`${url}/test/${world}`, { method: 'POST' });
  assert(response.ok, `${world}: ${response.status}`);
}

const button = (name) => page.getByRole('button', { name, exact: true });

async function step(title, run) {
  const began = performance.now();
  try {
    await run();
  } catch (error) {
    if (screenshots) {
      await page.screenshot({ path: join(screenshots, 'failed.png'), fullPage: true });
    }
    console.error(`${title}, at ${page.url()}: ${error.stack}\n${(await page.locator('body').innerText()).slice(0, 4000)}\n${problems.join('\n')}`);
    await browser.close();
    process.exit(1);
  }
  console.log(`${title}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

// finish reviews and runs a form, and waits until its task has ended.
async function finish() {
  await button('Review').click();
  await button('Create').click();
  await page.waitForURL('**/create/tasks/**');
  await page.getByText('Portal portal runs task').waitFor();
  await page.getByText(/Z Finished step /).waitFor();
}

// fill fills a field of a form.
const fill = (label, value) => page.getByRole('textbox', { name: label, exact: true }).fill(value);

const template = `${url}/create/templates/default/apps.apps.example.org`;
const resources = `${url}/catalog?filters[kind]=resource&filters[type]=crossplane-xr&filters[user]=all`;
const section = (name) => page.getByRole('region', { name, exact: true });

// openResource opens the tab of the resource, which the catalog has soon after its task.
async function openResource() {
  const link = page.getByRole('link', { name: 'shop', exact: true }).first();
  for (let i = 0; i < 20 && !(await link.isVisible()); i++) {
    await page.goto(resources);
    await link.waitFor({ timeout: 3_000 }).catch(() => undefined);
  }
  await link.click();
  await page.getByRole('link', { name: 'Resource', exact: true }).click();
}

await step('Sign in', async () => {
  await page.goto(url);
  await button('Enter').click();
  await page.getByRole('link', { name: 'Ingestion' }).waitFor();
});

await step('Wrong YAML names its line', async () => {
  await page.getByRole('link', { name: 'Create', exact: true }).first().click();
  await page.getByText('A container with what it needs to run.').waitFor();
  await page.goto(template);
  await fill('Name', 'shop');
  await fill('Namespace', 'team');
  await button('Next').click();
  await fill('Image', 'registry.example.org/shop:1');
  await fill('Helm Values', 'web:\n  ports: [80\nmode: fast\n');
  await page.getByRole('alert').getByText(/^Line \d+, column \d+: /).waitFor();
  await show(page, 'backstage-form');
  await button('Next').click();
  await page.getByText(/must be object/).first().waitFor();
});

await step('Create', async () => {
  await fill('Helm Values', 'web:\n  ports: [80, 443]\n  enabled: on\n');
  assert.equal(await page.getByText(/^Line \d+/).count(), 0);
  await button('Next').click();
  await finish();
  await change('compose');
});

await step('The tab shows the state of the resource', async () => {
  await openResource();
  await section('App shop').getByRole('status').getByText('Ready').waitFor();
  const objects = page.getByRole('list', { name: 'Objects' });
  await objects.getByText('shop-settings').waitFor();
  await objects.getByRole('listitem').filter({ hasText: 'shop-missing' }).last().getByText('Missing', { exact: true }).waitFor();
  await page.getByRole('table', { name: 'Conditions' }).getByRole('row', { name: /Ready True/ }).waitFor();
  await page.getByRole('table', { name: 'Events' }).getByText('cannot create ConfigMap shop-missing').waitFor();
  await page.getByRole('table', { name: 'History' }).getByRole('row', { name: /Created .*ada/ }).waitFor();
  await show(page, 'backstage-resource');
});

await step('The tab says why a resource is not ready', async () => {
  await change('fail');
  await page.reload();
  await section('App shop').getByRole('status').getByText('Not ready: cannot compose resources: quota of namespace team exceeded').waitFor();
  await show(page, 'backstage-not-ready');
});

await step('Update', async () => {
  await button('Update').click();
  await page.waitForURL('**/apps.apps.example.org-update?formData=**');
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'shop');
  await button('Next').click();
  assert.equal(await page.getByRole('textbox', { name: 'Image' }).inputValue(), 'registry.example.org/shop:1');
  const values = page.getByRole('textbox', { name: 'Helm Values' });
  assert.equal(await values.inputValue(), 'web:\n  enabled: true\n  ports:\n    - 80\n    - 443\n');
  await fill('Image', 'registry.example.org/shop:2');
  await show(page, 'backstage-update');
  await button('Next').click();
  await finish();
  await openResource();
  await page.getByRole('table', { name: 'History' }).getByRole('row', { name: /Updated .*spec.image/ }).waitFor();
});

await step('Ingestion', async () => {
  await page.getByRole('link', { name: 'Ingestion' }).click();
  await section('Portal portal').getByRole('status').getByText('Healthy').waitFor();
  await page.getByRole('row', { name: /dev Connected/ }).waitFor();
  await show(page, 'backstage-ingestion');
});

await step('Ingestion is refused', async () => {
  expected = /status of 403/;
  await change('refuse');
  await page.reload();
  await page.getByRole('alert').getByText('You may not see the state of ingestion').waitFor();
  await page.getByText('Missing permission ingestor.ingestion.read').waitFor();
  await show(page, 'backstage-refused');
  await change('allow');
  await page.reload();
  await section('Portal portal').getByRole('status').getByText('Healthy').waitFor();
  expected = undefined;
});

await step('A portal that is away', async () => {
  expected = /status of 503/;
  await change('down');
  await page.getByText('This data may be out of date').waitFor();
  await page.getByText(/Portal portal does not answer at http/).waitFor();
  await openResource();
  await page.getByRole('alert').getByText('The state of this resource is not available').waitFor();
  await show(page, 'backstage-away');
  await change('up');
  await section('App shop').getByRole('status').getByText('Not ready').waitFor();
  expected = undefined;
});

await step('A Backstage without the backend package', async () => {
  expected = /status of 404/;
  // The real response of a backend to requests for a plugin that it does not have.
  await page.route('**/api/ingestor/**', (route) => route.continue({ url: route.request().url().replace('/api/ingestor/', '/api/nosuch/') }));
  await page.reload();
  await page.getByRole('alert').getByText('install @ingestor/backstage-backend').waitFor();
  await page.unroute('**/api/ingestor/**');
  expected = undefined;
});

await step('Delete', async () => {
  await page.reload();
  await button('Delete').click();
  await page.waitForURL('**/apps.apps.example.org-delete?formData=**');
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'shop');
  await page.getByRole('checkbox').check();
  await finish();
});

await browser.close();
if (problems.length > 0) {
  console.error(`the console of the browser has errors:\n${problems.join('\n')}`);
  process.exit(1);
}

// A certified OpenID Connect provider on loopback. The first line on standard
// input is its settings; the first line on standard output is its address. It
// ends when standard input is closed, so it never outlives its parent process.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';

import { Provider } from 'oidc-provider';

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit(0));
const settings = await new Promise((resolve) => lines.once('line', (line) => resolve(JSON.parse(line))));

const requests = [];
let answer;
const server = createServer({ key: settings.key, cert: settings.cert }, (req, res) => {
  if (req.url === '/requests') {
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify(requests));
    return;
  }
  answer(req, res);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `https://127.0.0.1:${server.address().port}`;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const provider = new Provider(url, {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: randomBytes(8).toString('hex') }] },
  cookies: { keys: [randomBytes(16).toString('hex')] },
  clients: [{
    client_id: settings.clientId,
    ...(settings.authMethod === 'none' ? {} : { client_secret: settings.clientSecret }),
    token_endpoint_auth_method: settings.authMethod,
    grant_types: ['authorization_code', 'refresh_token', ...(settings.authMethod === 'none' ? [] : ['client_credentials'])],
    response_types: ['code'],
    redirect_uris: [settings.redirect],
  }],
  scopes: ['openid', 'offline_access', 'groups'],
  claims: { openid: ['sub', 'groups', 'name', ...Object.keys(settings.claims)], email: ['email', 'email_verified'] },
  conformIdTokenClaims: false,
  findAccount: (ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, groups: settings.people?.[id] ?? settings.groups, name: id, email: `${id}@example.com`, email_verified: true, ...settings.claims }),
  }),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: {
    AccessToken: settings.lifetime,
    ClientCredentials: settings.lifetime,
    IdToken: settings.lifetime,
    RefreshToken: 86400,
    Grant: 86400,
    Interaction: 600,
    Session: 600,
  },
  features: {
    devInteractions: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => {
        if (resource !== settings.audience) {
          throw new Error('unknown resource');
        }
        return { scope: 'read', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: settings.lifetime, jwt: { sign: { alg: 'RS256' } } };
      },
    },
  },
});

// An event is emitted before the response is sent, so a client that has a
// response finds it among the requests.
provider.on('grant.success', (ctx) => requests.push({ grant: ctx.oidc.params.grant_type, error: '' }));
provider.on('grant.error', (ctx, err) => requests.push({ grant: ctx.oidc?.params?.grant_type ?? '', error: err.error ?? err.message }));
provider.on('server_error', (ctx, err) => console.error(err));

answer = provider.callback();
console.log(JSON.stringify({ url }));

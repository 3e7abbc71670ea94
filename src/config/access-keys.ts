import { MusterError } from '../core/errors.ts';
import { checkedSchema, type ReportProblem } from '../core/json/documents.ts';
import { configList, configText, mapping, oneOf, textLike } from './config-values.ts';
import { authorizationModes, defaultAuthorization, defaultIdentityPrefix, tokenAlgorithms } from './defaults.ts';

// The keys of a config file about the identity and the rights of callers.

/** A prefix of names, which may be empty. It may not begin with `system:`, because such names belong to Kubernetes itself. */
const prefix = textLike('a prefix of at most 253 characters that does not begin with system:', { pattern: /(?!system:).{0,253}/ });

/** The name of a header: a token of RFC 9110. Headers with a meaning in HTTP or for bearer tokens are refused. */
const headerName = textLike('the name of a header such as X-Remote-User', {
  pattern: /(?!(?:[aA]uthorization|[cC]ookie|[hH]ost|[cC]onnection|[cC]ontent-.*)$)[!#$%&'*+.^_`|~0-9A-Za-z-]+/,
});

const audiences = configList(configText, { min: 1 });

const oidcKeys = {
  issuer: checkedSchema(configText, checkIssuer).describe(
    'The URL of the issuer, exactly as its tokens have it in `iss`: https, without query and fragment.',
  ),
  audiences: audiences.describe('The audiences that the gateway answers to. A token needs one of them in `aud`.'),
  caFile: configText
    .exactOptional()
    .describe("A PEM file with the authorities that the issuer's server must be signed by. Default: those of Node.js."),
  usernameClaim: configText.exactOptional().describe('The claim with the name of the user, a text; sub by default.'),
  usernamePrefix: prefix
    .exactOptional()
    .describe(`The prefix of names of users; ${defaultIdentityPrefix} by default. An empty text: no prefix.`),
  groupsClaim: configText
    .exactOptional()
    .describe('The claim with the groups of the user, a text or a list of texts; groups by default. A token without it has no groups.'),
  groupsPrefix: prefix
    .exactOptional()
    .describe(`The prefix of names of groups; ${defaultIdentityPrefix} by default. An empty text: no prefix.`),
  algorithms: configList(oneOf(tokenAlgorithms), { min: 1 })
    .exactOptional()
    .describe(`The algorithms of signatures that are accepted; ${tokenAlgorithms.join(', ')} by default.`),
};

const tokenReviewKeys = {
  audiences: audiences.describe('The audiences that the gateway answers to. A token needs one of them.'),
};

const clientCertificateKeys = {
  caFile: configText.describe(
    "A PEM file with the authorities that sign callers' certificates. The common name is the user, each organization a group.",
  ),
};

const proxyKeys = {
  caFile: configText.describe("A PEM file with the authorities that sign the proxies' certificates."),
  allowedNames: configList(configText, { min: 1 }).describe('The common names of proxies that may name callers in headers.'),
  userHeader: headerName.describe('The header with the name of the user.'),
  groupHeader: headerName
    .exactOptional()
    .describe('The header with the groups of the user: several headers, or one with commas. Default: callers have no groups.'),
};

const authenticationKeys = {
  oidc: configList(mapping(oidcKeys), { min: 1 })
    .exactOptional()
    .describe('Issuers of OpenID Connect whose tokens are accepted. A token belongs to the issuer of its `iss`.'),
  tokenReview: mapping(tokenReviewKeys)
    .exactOptional()
    .describe('Tokens that the hub accepts, such as those of its service accounts. Needs a hub, which is asked about each token.'),
  clientCertificates: mapping(clientCertificateKeys).exactOptional().describe('Certificates that callers show. Needs `tls`.'),
  proxy: mapping(proxyKeys)
    .exactOptional()
    .describe(
      'Proxies that authenticate callers, and name them in headers. Only a connection with a certificate of a proxy counts. Needs `tls`.',
    ),
};

const tlsKeys = {
  certFile: configText.describe('A PEM file with the certificate of the gateway, followed by its intermediate authorities.'),
  keyFile: configText.describe('A PEM file with the private key of the certificate.'),
};

const auditKeys = {
  file: configText.describe('The file that lines are appended to.'),
};

/** The keys of the file about callers, except those of single clusters. */
export const callerKeys = {
  tls: mapping(tlsKeys)
    .exactOptional()
    .describe('Serves HTTPS and WSS in place of plain HTTP. The files are read again when they change. Default: plain HTTP.'),
  authentication: mapping(authenticationKeys)
    .exactOptional()
    .describe(
      'The ways in which callers authenticate, at least one. Default: local mode, in which every caller has the rights of the kubeconfig.',
    ),
  audit: mapping(auditKeys)
    .exactOptional()
    .describe(
      'Where changes and reads of Secrets are recorded, as JSON lines. Default: standard output with `authentication`, else nowhere.',
    ),
};

const memberIdentityKeys = {
  userPrefix: prefix.exactOptional().describe('The prefix that names of users get in this cluster. Default: none.'),
  groupPrefix: prefix.exactOptional().describe('The prefix that names of groups get in this cluster. Default: none.'),
};

/** The keys of one cluster about callers. */
export const memberAccessKeys = {
  identity: mapping(memberIdentityKeys)
    .exactOptional()
    .describe('How users and groups are named in this cluster. Default: as they are named by the gateway.'),
  authorization: oneOf(authorizationModes)
    .exactOptional()
    .describe(
      `How rights of callers are decided: sar asks the cluster, rbac evaluates its RBAC objects, live mirrors no objects and reads as the caller; ${defaultAuthorization} by default.`,
    ),
};

/** The values of `callerKeys` and of `hub`, as far as they are checked against each other. */
interface CheckedKeys {
  readonly tls?: unknown;
  readonly tokenFile?: unknown;
  readonly authentication?: {
    readonly oidc?: readonly { readonly issuer: string }[];
    readonly tokenReview?: unknown;
    readonly clientCertificates?: unknown;
    readonly proxy?: { readonly userHeader: string; readonly groupHeader?: string };
  };
}

/**
 * Checks that the keys about callers fit together.
 *
 * @throws {MusterError} `BAD_INPUT` with one line, if keys that are good by themselves do not fit together.
 */
export function demandConsistentAuthentication({ tls, tokenFile, authentication }: CheckedKeys): void {
  if (authentication === undefined) return;
  const refuse = (key: string, message: string): never => {
    throw new MusterError('BAD_INPUT', `${key}: ${message}`);
  };
  const { oidc = [], tokenReview, clientCertificates, proxy } = authentication;
  if (oidc.length === 0 && tokenReview === undefined && clientCertificates === undefined && proxy === undefined)
    refuse('authentication', 'expected at least one of oidc, tokenReview, clientCertificates, proxy');
  if (tokenFile !== undefined) refuse('tokenFile', 'expected no token file with authentication');
  for (const [index, { issuer }] of oidc.entries()) {
    const before = oidc.findIndex((other) => other.issuer === issuer);
    if (before < index)
      refuse(`authentication.oidc[${index}].issuer`, `${JSON.stringify(issuer)} is already the issuer of authentication.oidc[${before}]`);
  }
  if (clientCertificates !== undefined && tls === undefined) refuse('authentication.clientCertificates', 'expected tls with it');
  if (proxy === undefined) return;
  if (tls === undefined) refuse('authentication.proxy', 'expected tls with it');
  if (proxy.groupHeader?.toLowerCase() === proxy.userHeader.toLowerCase())
    refuse('authentication.proxy.groupHeader', 'expected another header than userHeader');
}

function checkIssuer(given: string, report: ReportProblem): void {
  const url = URL.parse(given);
  if (url === null || url.protocol !== 'https:') report('expected a URL with https');
  else if (/[?#]/.test(given) || `${url.username}${url.password}` !== '') report('expected a URL without user, query and fragment');
}

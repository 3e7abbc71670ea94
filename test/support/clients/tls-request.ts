import https from 'node:https';

export interface TlsRequestOptions {
  /** The authority of the server, in PEM. */
  readonly ca: string;
  /** The certificate of the client, in PEM. */
  readonly cert?: string;
  readonly key?: string;
  readonly method?: string;
  readonly headers?: https.RequestOptions['headers'];
  readonly body?: string;
}

export interface TlsAnswer {
  readonly status: number;
  readonly text: string;
  /** The serial number of the server's certificate. */
  readonly serial: string;
}

/** Sends one request over a connection of its own. */
export function tlsRequest(url: string, { body, ...options }: TlsRequestOptions): Promise<TlsAnswer> {
  return new Promise((resolve, reject) => {
    const request = https.request(url, { ...options, agent: false }, (answer) => {
      const { socket } = answer;
      const serial = 'getPeerCertificate' in socket ? (socket as import('node:tls').TLSSocket).getPeerCertificate().serialNumber : '';
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, serial }));
    });
    request.once('error', reject);
    request.end(body);
  });
}

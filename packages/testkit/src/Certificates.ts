/**
 * Certificates for receivers in tests: an authority, and the certificates that it issues.
 * Keys exist in memory only.
 */
// `@peculiar/x509` requires this import before its own.
import "reflect-metadata"
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from "@peculiar/x509"
import { Effect } from "effect"
import { randomUUID, type webcrypto } from "node:crypto"
import { isIP } from "node:net"

/** A certificate and its key in PEM, as `https.createServer` accepts them. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Options of a certificate. */
export interface CertificateOptions {
  /** Host names and IP addresses of the certificate. */
  readonly names: ReadonlyArray<string>
  /** Default the year 2020. */
  readonly notBefore?: Date | undefined
  /** Default the year 2049. A date in the past makes an expired certificate. */
  readonly notAfter?: Date | undefined
}

/** Issues certificates. */
export interface Authority {
  /** The certificate of the authority in PEM. A client that trusts it trusts every certificate it issues. */
  readonly ca: string
  readonly issue: (options: CertificateOptions) => Effect.Effect<Certificate>
}

/** Creates an authority that no client trusts by default. */
export const makeAuthority: Effect.Effect<Authority> = Effect.promise(async () => {
  const keys = await makeKeys()
  // A client that trusts several authorities looks for them by name.
  const issuer = `CN=Authority of a test ${randomUUID()}`
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: issuer,
    keys,
    ...validity({}),
    extensions: [new BasicConstraintsExtension(true, undefined, true)]
  })
  const issue = Effect.fnUntraced(function*(options: CertificateOptions) {
    return yield* Effect.promise(async () => {
      const own = await makeKeys()
      const certificate = await X509CertificateGenerator.create({
        subject: "CN=Receiver of a test",
        issuer,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        ...validity(options),
        extensions: [alternativeNames(options)]
      })
      return { cert: certificate.toString("pem"), key: await toPem(own.privateKey) }
    })
  })
  return { ca: authority.toString("pem"), issue }
})

/** Creates a self-signed certificate. */
export const makeSelfSigned = Effect.fnUntraced(function*(options: CertificateOptions) {
  return yield* Effect.promise(async (): Promise<Certificate> => {
    const keys = await makeKeys()
    const certificate = await X509CertificateGenerator.createSelfSigned({
      name: "CN=Receiver of a test",
      keys,
      ...validity(options),
      extensions: [alternativeNames(options)]
    })
    return { cert: certificate.toString("pem"), key: await toPem(keys.privateKey) }
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const

const makeKeys = () => crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])

const validity = ({ notAfter, notBefore }: Partial<CertificateOptions>) => ({
  notBefore: notBefore ?? new Date("2020-01-01T00:00:00Z"),
  notAfter: notAfter ?? new Date("2049-01-01T00:00:00Z"),
  signingAlgorithm: algorithm
})

const alternativeNames = ({ names }: CertificateOptions) =>
  new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value })))

const toPem = async (key: webcrypto.CryptoKey): Promise<string> => {
  const der = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64")
  return `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`
}

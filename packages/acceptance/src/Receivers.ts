/** Receivers with certificates of a test authority that hosts trust. */
import * as Certificates from "@kinora/testkit/Certificates"
import { Effect } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import * as Receiver from "./Receiver.ts"

/** Options of a receiver. */
export interface Wish {
  /** Default: a free port. */
  readonly port?: number | undefined
  /** Default: a certificate for `localhost` that hosts trust. */
  readonly certificate?: "of another authority" | "of another name" | "expired" | undefined
}

/** Starts receivers. */
export interface Receivers {
  /** Certificate of the authority, PEM. */
  readonly ca: string
  /** Settings with which a host trusts the receivers and sends to this machine. */
  readonly environment: Readonly<Record<string, string>>
  readonly start: (wish?: Wish) => Promise<Receiver.Receiver>
}

/** Creates an authority. Its certificate is in a file until the scope closes. */
export const make = Effect.fn("Receivers.make")(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-authority-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  const { authority, certificateOf } = yield* makeCertificates
  const file = join(directory, "authority.pem")
  yield* Effect.promise(() => writeFile(file, authority.ca))
  const receivers: Receivers = {
    ca: authority.ca,
    environment: { NODE_EXTRA_CA_CERTS: file, KINORA_WEBHOOK_ALLOW_PRIVATE: "true" },
    start: startWith(certificateOf)
  }
  return receivers
})

/**
 * Starts receivers whose authority this process trusts from now on. `now` returns the time at which timestamps are
 * verified.
 */
export const here = async (): Promise<(now: () => Date) => Receivers["start"]> => {
  // Node has one list of authorities per process, so there is one authority.
  known ??= Effect.runPromise(makeCertificates).then((made) => {
    setDefaultCACertificates([...getCACertificates("default"), made.authority.ca])
    return made
  })
  const { certificateOf } = await known
  return (now) => startWith(certificateOf, now)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type CertificateOf = (kind: Wish["certificate"]) => Effect.Effect<Certificates.Certificate>

const makeCertificates = Effect.gen(function*() {
  const authority = yield* Certificates.makeAuthority
  const usual = yield* authority.issue({ names: ["localhost"] })
  const certificateOf: CertificateOf = (kind) => {
    if (kind === undefined) return Effect.succeed(usual)
    if (kind === "of another name") return authority.issue({ names: ["receiver.example"] })
    if (kind === "expired") return authority.issue({ names: ["localhost"], notAfter: new Date("2021-01-01T00:00:00Z") })
    return Effect.flatMap(Certificates.makeAuthority, (other) => other.issue({ names: ["localhost"] }))
  }
  return { authority, certificateOf }
})

const startWith =
  (certificateOf: CertificateOf, now?: () => Date): Receivers["start"] => async ({ certificate, port } = {}) =>
    Receiver.start({ certificate: await Effect.runPromise(certificateOf(certificate)), now, port })

let known: Promise<Effect.Success<typeof makeCertificates>> | undefined

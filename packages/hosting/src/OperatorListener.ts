/**
 * The listener of `/readyz`, `/metrics` and the operator API. It is a separate one if the public
 * reaches the listener for clients, so that no proxy rule is needed to protect them.
 */
import { Context, Data, type Option } from "effect"
import { isPublic } from "./internal/settings/publicAddress.ts"
import type { Settings } from "./Settings.ts"

/** Where a listener accepts connections. */
export interface Address {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

/**
 * `shared`: the listener for clients is for operators too. `off`: none, so that nothing
 * serves `/readyz`, `/metrics` and the operator API.
 */
export type OperatorListener = "shared" | OwnListener

/** A listener for operators that is not the one for clients. */
export type OwnListener = "off" | Address

/** The origin of the listener for operators; `None` if it is off. */
export class OperatorOrigin extends Context.Service<OperatorOrigin, Option.Option<string>>()(
  "@kinora/hosting/OperatorListener/OperatorOrigin"
) {}

/** The listener for operators cannot be opened. Stops the start. */
export class OperatorListenerFailed extends Data.TaggedError("OperatorListenerFailed")<{
  readonly host: string
  readonly port: number
  /** Code of the operating system, such as `EADDRINUSE`. */
  readonly code: unknown
}> {
  override get message(): string {
    const { code, host, port } = this
    const listener = `The listener for operators cannot be opened: port ${port} of ${host}`
    if (code === "EADDRINUSE") {
      return `${listener} is in use. Set KINORA_ADMIN_PORT to another port, to 0 for any free port, or to off`
    }
    if (code === "EACCES") {
      return `${listener} is not permitted to this user. Set KINORA_ADMIN_PORT to a port above 1023`
    }
    if (code === "EADDRNOTAVAIL") return `${listener} is not on this machine. Check KINORA_ADMIN_HOST`
    return `${listener} failed with ${String(code)}. Check KINORA_ADMIN_HOST and KINORA_ADMIN_PORT`
  }
}

/**
 * Returns the listener for operators of a server: that of the settings, or else the
 * listener for clients if only this machine reaches it, or else port 4748 of 127.0.0.1.
 */
export const ofServer = (settings: Pick<Settings, "adminHost" | "adminPort" | "host" | "port">): OperatorListener => {
  const { adminHost, adminPort, host: clientHost, port: clientPort } = settings
  if (adminPort === "off") return "off"
  if (adminHost === undefined && adminPort === undefined && !isPublic(clientHost)) return "shared"
  const host = adminHost ?? loopback
  const port = adminPort ?? 4748
  return host === clientHost && port === clientPort && port !== 0 ? "shared" : { host, port }
}

/** Returns the listener for operators of a worker: that of the settings, or else port 4749 of 127.0.0.1. */
export const ofWorker = (
  { adminHost, adminPort }: Pick<Settings, "adminHost" | "adminPort">
): OwnListener => adminPort === "off" ? "off" : { host: adminHost ?? loopback, port: adminPort ?? 4749 }

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const loopback = "127.0.0.1"

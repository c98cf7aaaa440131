/** Closes connections of clients that have too many, so that one client cannot use up the connections of a server. */
import { ClientAddress } from "@kinora/rate-limit"
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import type { Server, Socket } from "node:net"

/** How many connections a client can have. */
export interface AddressLimits {
  /** Maximum number of open connections per client address (IPv6: per /48). */
  readonly max: number
  /** Networks of proxies, which have the connections of many clients and no maximum. */
  readonly proxies: ReadonlyArray<IpNetwork.IpNetwork>
}

/** The event of a connection that is closed, with the group of its address. */
export const rejectedEvent = "rejectedAddress"

/** Closes further connections of an address without a response, and emits `rejectedEvent`. */
export const limit = (server: Server, { max, proxies }: AddressLimits): void => {
  /** The number of open connections by group of addresses. */
  const open = new Map<string, number>()

  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket
    // A socket that is closed already has no address.
    if (remoteAddress === undefined || isIn(proxies, remoteAddress)) return
    const group = ClientAddress.site(remoteAddress)
    const count = open.get(group) ?? 0
    if (count >= max) {
      socket.destroy()
      server.emit(rejectedEvent, group)
      return
    }
    open.set(group, count + 1)
    socket.once("close", () => {
      const left = (open.get(group) ?? 0) - 1
      if (left > 0) open.set(group, left)
      else open.delete(group)
    })
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isIn = (networks: ReadonlyArray<IpNetwork.IpNetwork>, text: string): boolean => {
  if (networks.length === 0) return false
  // Without the interface of a link-local address: `fe80::1%eth0`.
  const address = NetAddress.ipFromString(text.split("%", 1)[0] ?? text)
  return Result.isSuccess(address) &&
    networks.some((network) => IpNetwork.contains(network, NetAddress.toCanonical(address.success)))
}

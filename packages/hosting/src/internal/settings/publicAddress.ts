/** Addresses to listen on that others reach. */
import { isIPv4 } from "node:net"

/** Whether the address accepts connections of other machines. Names except `localhost` count as such. */
export const isPublic = (host: string): boolean =>
  !(host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127.")))

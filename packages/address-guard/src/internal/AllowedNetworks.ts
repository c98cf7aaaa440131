/** Networks that a guard allows although they are not public. */
import { Result } from "effect"
import ipaddr from "ipaddr.js"
import { isAddress } from "./PublicAddress.ts"

/** The allowed networks of a guard. A mapped address, such as `::ffff:10.20.0.1`, is compared as IPv4. */
export interface AllowedNetworks {
  readonly isEmpty: boolean
  /** Returns whether an address is in one of the networks. */
  readonly contains: (address: string) => boolean
  /** Returns whether an address is in the list by itself, and not only in a network of several addresses. */
  readonly lists: (address: string) => boolean
}

/** Parses networks. Throws a `TypeError` with an explanation for the first text that is not one. */
export const make = (texts: ReadonlyArray<string>): AllowedNetworks => {
  const networks = texts.map((text) => Result.getOrThrowWith(parse(text), (problem) => new TypeError(problem)))
  const isIn = (address: string, networks: ReadonlyArray<Network>) =>
    isPlainAddress(address) && networks.some((network) => includes(network, bytesOf(address)))
  return {
    isEmpty: networks.length === 0,
    contains: (address) => isIn(address, networks),
    lists: (address) => isIn(address, networks.filter(({ base, length }) => length === base.length * 8))
  }
}

/** Returns whether a text is an address, or a network such as `10.20.0.0/16` or `fd00:20::/32` without host bits. */
export const isNetwork = (text: string): boolean => Result.isSuccess(parse(text))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The bytes of the first address, and the number of bits that all addresses share. */
interface Network {
  readonly base: ReadonlyArray<number>
  readonly length: number
}

const pattern = /^([^/]+)(?:\/(0|[1-9][0-9]{0,2}))?$/

const parse = (text: string): Result.Result<Network, string> => {
  const [, address = "", suffix] = pattern.exec(text) ?? []
  if (!isPlainAddress(address)) return notNetwork(text)
  const base = bytesOf(address)
  // The prefix of a mapped address includes 96 bits that IPv4 does not have.
  const mappedBits = address.includes(":") && base.length === 4 ? 96 : 0
  const length = suffix === undefined ? base.length * 8 : Number(suffix) - mappedBits
  if (length < 0 || length > base.length * 8) return notNetwork(text)
  const first = base.map((byte, index) => byte & maskOf(length, index))
  if (base.every((byte, index) => byte === first[index])) return Result.succeed({ base, length })
  const intended = `${ipaddr.fromByteArray(first).toString()}/${length}`
  return Result.fail(
    `"${text}" has bits after its prefix; did you mean the network ${intended} or the address ${address}?`
  )
}

const notNetwork = (text: string) =>
  Result.fail(`"${text}" is not a network; expected an address, or a network such as 10.20.0.0/16 or fd00:20::/32`)

/** An address of one interface (`fe80::1%eth0`) cannot be compared. */
const isPlainAddress = (text: string): boolean => isAddress(text) && !text.includes("%")

/** Returns 4 bytes for IPv4 and mapped addresses, and 16 for IPv6. */
const bytesOf = (address: string): ReadonlyArray<number> => ipaddr.process(address).toByteArray()

/** Returns the bits of a byte that belong to a prefix. */
const maskOf = (length: number, index: number): number => 0xff & ~(0xff >> Math.min(8, Math.max(0, length - index * 8)))

const includes = ({ base, length }: Network, address: ReadonlyArray<number>): boolean =>
  address.length === base.length && address.every((byte, index) => (byte & maskOf(length, index)) === base[index])

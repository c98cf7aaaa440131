/** Definitions of the settings for requests and their bodies. */
import { between } from "./between.ts"

/** Definitions by key of the file. See `definitions`. */
export const requestDefinitions = {
  request_seconds: {
    schema: between(1, 600),
    default: "5",
    expected: "a number of seconds from 1 to 600",
    about:
      "Seconds after which a request gets 503. Waiting for a job, receiving bodies, parsing large ones, and decoding and moderating images do not count."
  },
  max_requests: {
    schema: between(1, 100_000),
    default: "512",
    expected: "a number of requests from 1 to 100000",
    about: "Requests that this process handles at once, without those that wait. Further ones get 503."
  },
  max_connections: {
    schema: between(16, 1_000_000),
    default: "10000",
    expected: "a number of connections from 16 to 1000000",
    about: "Connections of clients that this process keeps open. Further ones are closed without a response."
  },
  max_connections_per_address: {
    schema: between(1, 1_000_000),
    default: undefined,
    expected: "a number of connections from 1 to 1000000",
    about:
      "Connections that a client address (IPv6: a /48) can have to this process; unset: a quarter of `max_connections`. Further ones are closed without a response. Trusted proxies have no maximum."
  },
  small_bodies_mib: {
    // A quarter of it holds the largest body.
    schema: between(4, 65_536),
    default: "16",
    expected: "a number of MiB from 4 to 65536",
    about:
      "MiB of bodies that arrive at this process at once with authentication, and as much without; a quarter of it per account, operator or client address (IPv6: a /48). Does not apply to uploads and bodies that create jobs. Further requests get 503."
  },
  body_seconds: {
    schema: between(1, 280),
    default: "30",
    expected: "a number of seconds from 1 to 280",
    about: "Seconds in which a body that creates a job has to arrive before it gets 408."
  },
  transfer_kib_per_second: {
    schema: between(1, 1_000_000),
    default: "16",
    expected: "a number of KiB from 1 to 1000000",
    about: "KiB per second that a client has to send of a large body, and to receive of a response."
  },
  response_stall_seconds: {
    schema: between(1, 3_600),
    default: "30",
    expected: "a number of seconds from 1 to 3600",
    about: "Seconds that a client can fall behind this rate with a response before its connection is closed."
  },
  image_wait_seconds: {
    schema: between(1, 110),
    default: "50",
    expected: "a number of seconds from 1 to 110",
    about: "Seconds that the image endpoint waits for its image before it returns 504."
  }
} as const

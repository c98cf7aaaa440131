/** Definitions of the settings for the console and its sessions. */
import { Schema } from "effect"
import { between } from "./between.ts"

/** Definitions by key of the file. See `definitions`. */
export const consoleDefinitions = {
  console: {
    schema: Schema.Literals(["true", "false"]),
    default: "true",
    expected: "true or false",
    about: "Whether a server serves the console and accepts sessions."
  },
  session_hours: {
    schema: between(1, 8_760),
    default: "168",
    expected: "a number of hours from 1 to 8760",
    about: "Hours after its start when a session of an account ends, even if it is used."
  },
  session_idle_hours: {
    schema: between(1, 8_760),
    default: "12",
    expected: "a number of hours from 1 to 8760",
    about: "Hours without use after which a session of an account ends."
  },
  operator_session_hours: {
    schema: between(1, 8_760),
    default: "12",
    expected: "a number of hours from 1 to 8760",
    about: "Hours after its start when a session of an operator ends, even if it is used."
  },
  operator_session_idle_hours: {
    schema: between(1, 8_760),
    default: "1",
    expected: "a number of hours from 1 to 8760",
    about: "Hours without use after which a session of an operator ends."
  }
} as const

#!/usr/bin/env node
import { Process } from "@kinora/hosting"
import { serverCommand } from "./command.ts"

Process.runHost(serverCommand)

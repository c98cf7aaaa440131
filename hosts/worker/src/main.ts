#!/usr/bin/env node
import { Process } from "@kinora/hosting"
import { workerCommand } from "./command.ts"

Process.runHost(workerCommand)

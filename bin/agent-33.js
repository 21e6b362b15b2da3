#!/usr/bin/env node
require("../dist/agent-33.cjs");

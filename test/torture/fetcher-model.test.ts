import "../enrichment/fetcher-model.test.js";

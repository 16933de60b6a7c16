// Loaded into the suite's Node: the suite has no option for a token, so every request that it makes gets one.
import channel from "node:diagnostics_channel";

const token = `Bearer ${process.env.STANDFAST_TOKEN}`;
channel.subscribe("undici:request:create", ({ request }) => request.addHeader("authorization", token));
channel.subscribe("http.client.request.created", ({ request }) => request.setHeader("authorization", token));

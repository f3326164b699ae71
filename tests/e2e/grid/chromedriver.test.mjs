// --webdriver with chromedriver. Needs tools/setup --grid.
import { tryDriver } from "./drivers.mjs";
import { chromium, hasChromium, startChromeDriver } from "./programs.mjs";

// To an address that is refused, also for pages of this machine.
const elsewhere = structuredClone(chromium);
elsewhere["goog:chromeOptions"].args.push(
  "--proxy-server=http://127.0.0.1:9",
  "--proxy-bypass-list=<-loopback>",
);

tryDriver({
  name: "ChromeDriver",
  browser: "chrome",
  process: "chromium",
  page: "--type=renderer",
  capabilities: chromium,
  elsewhere,
  open: startChromeDriver,
  skip: hasChromium ? false : "chromedriver is not here: tools/setup --grid installs it",
});

package prices;

import java.io.File;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.AbstractProtocol;

/** Starts the service of the incident: Tomcat with its thread per request, one servlet. */
public final class PriceApi {
  private PriceApi() {}

  public static void main(String[] args) throws Exception {
    Store store = Store.fromEnvironment();
    PriceCache cache = new PriceCache(store);
    cache.warm();

    Tomcat tomcat = new Tomcat();
    File base = Files.createTempDirectory("price-api").toFile();
    base.deleteOnExit();
    tomcat.setBaseDir(base.getPath());
    Connector connector = new Connector();
    connector.setPort(number("PORT", 0));
    AbstractProtocol<?> protocol = (AbstractProtocol<?>) connector.getProtocolHandler();
    protocol.setMaxThreads(number("TOMCAT_THREADS", 200));
    protocol.setProperty("maxKeepAliveRequests", "-1");
    protocol.setKeepAliveTimeout(300_000);
    tomcat.setConnector(connector);
    Context context = tomcat.addContext("", base.getPath());
    Tomcat.addServlet(context, "baskets", new BasketServlet(cache));
    context.addServletMappingDecoded("/baskets/*", "baskets");
    tomcat.start();
    System.out.println("ready");
    tomcat.getServer().await();
  }

  /** The number in an environment variable. */
  static int number(String name, int otherwise) {
    String text = System.getenv(name);
    return text == null ? otherwise : Integer.parseInt(text);
  }
}

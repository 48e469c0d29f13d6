package prices;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** GET /baskets/N: the prices of the SKUs in basket N. */
final class BasketServlet extends HttpServlet {
  private static final int SKUS = PriceApi.number("SKUS", 10);
  private static final int COLD_PERCENT = PriceApi.number("COLD_PERCENT", 15);

  private final transient PriceCache cache;

  BasketServlet(PriceCache cache) {
    this.cache = cache;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String correlation = UUID.randomUUID().toString();
    long basket = Long.parseLong(request.getPathInfo().substring(1));
    Map<String, String> prices = cache.prices(skus(basket));
    response.setHeader("X-Correlation-Id", correlation);
    response.setContentType("application/json");
    StringBuilder json = new StringBuilder("{");
    prices.forEach((sku, price) ->
        json.append(json.length() > 1 ? "," : "").append('"').append(sku).append("\":").append(price));
    response.getWriter().append(json.append("}\n"));
  }

  /** Most SKUs of a basket are popular ones; which they are depends on its number alone. */
  private static List<String> skus(long basket) {
    Random random = new Random(basket);
    List<String> skus = new ArrayList<>(SKUS);
    while (skus.size() < SKUS) {
      int sku = random.nextInt(100) < COLD_PERCENT
          ? PriceCache.POPULAR + random.nextInt(PriceCache.COLD)
          : random.nextInt(PriceCache.POPULAR);
      skus.add(String.valueOf(sku));
    }
    return skus;
  }
}

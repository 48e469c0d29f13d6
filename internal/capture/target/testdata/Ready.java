class Ready {
    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        Thread.sleep(3_600_000);
    }
}
